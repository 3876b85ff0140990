"""Publicly known crashes of old releases: downloaded, built, confirmed natively, looked for by the engine."""
