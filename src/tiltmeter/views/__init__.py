"""Views: tables, charts and the report. They read readings and never ask a model."""
