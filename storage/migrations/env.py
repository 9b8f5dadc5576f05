"""What Alembic runs to upgrade, on the connection that `storage.upgrade` hands it."""

from alembic import context

from storage import derived, reward_tables  # noqa: F401 - their tables are in the catalogue
from storage.tables import Table

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Table.metadata,
    # SQLite changes a table by building it anew.
    render_as_batch=True,
)
context.run_migrations()
