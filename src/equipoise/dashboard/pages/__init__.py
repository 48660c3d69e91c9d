"""The content of each page, as a model whose schema is published at /openapi.json."""
