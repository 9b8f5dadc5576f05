"""The schema's history, in Alembic's form. `versions` holds one module a step."""

HEAD = "0008"
"""The newest revision. Known without importing Alembic, which a start at head can do without; a
test holds it against the modules."""
