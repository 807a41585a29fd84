"""Which disks a file's locks cannot be trusted on."""

from pathlib import Path

NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "sshfs"})
MOUNTS = Path("/proc/self/mounts")


def on_network(path: Path, mounts: Path = MOUNTS) -> bool:
    """Whether `path` is on a network disk, as far as this system tells."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    found = [(Path(fields[1]), fields[2]) for line in lines if len(fields := line.split()) > 2]
    inside = [(len(folder.parts), kind) for folder, kind in found if path.is_relative_to(folder)]
    return bool(inside) and max(inside)[1].removeprefix("fuse.") in NETWORK
