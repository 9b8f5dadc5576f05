"""The Gradio pages. A new page is a module under web/static and a line here."""

from web.pages.frame import Page

PAGES = (
    Page("Play", "", "play.js"),
    Page("Leaderboard", "leaderboard", "leaderboard.js"),
    Page("Checkpoints", "checkpoints", "checkpoints.js"),
    Page("Evaluations", "evaluations", "evaluations.js"),
    Page("Games", "games", "games.js"),
    Page("Datasets", "datasets", "datasets.js"),
    Page("Game", "game", "game.js", in_navigation=False),
    Page("Evaluation", "evaluation", "evaluation.js", in_navigation=False),
    Page("Checkpoint", "checkpoint", "checkpoint.js", in_navigation=False),
    Page("Compare", "compare", "compare.js", in_navigation=False),
    Page("Runs", "runs", "runs.js", in_navigation=False),
    Page("Run", "run", "run.js", in_navigation=False),
)
