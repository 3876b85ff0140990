"""A path listener: a line of `paths.log` for every path that ends, with its length in forks."""

from anabranch.plugin import path_listener


@path_listener
def log_paths(events):
    log = open("paths.log", "w", buffering=1)  # noqa: SIM115

    def ended(path, why, where):
        line = where.loc.line if where is not None and where.loc is not None else "-"
        log.write(f"{why} after {path.depth} forks at line {line}\n")

    events.ended.append(ended)
