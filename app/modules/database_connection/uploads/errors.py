"""Errors of uploaded files."""

from app.core.errors import Forbidden, Invalid, NotFound, TooMany


class FileNotReadable(Invalid):
    """The file is no table that KAI can read, or a correction does not fit it."""

    problem = "file-not-readable"
    title = "The file cannot be read"


class UploadsOff(Forbidden):
    """This KAI takes no files (`KAI_UPLOADS__MAX_BYTES=0`)."""

    problem = "uploads-off"
    title = "Files are not taken here"
    sentence = "This KAI takes no files. Its operator can allow them by KAI_UPLOADS__MAX_BYTES."


class UploadQuotaReached(TooMany):
    """The owner's files would take more room than they may have."""

    problem = "upload-quota"
    title = "Your files take too much room"


class UploadUnderWay(TooMany):
    """Another file of the owner, or too many of others, are being read."""

    problem = "upload-under-way"
    title = "Another file is being read"


class NoUploadedFile(NotFound):
    """The database was registered by its URL and is not made of a file."""

    title = "No uploaded file"
