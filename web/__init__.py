"""What a browser and the users of the JSON routes see. Only this package imports gradio."""
