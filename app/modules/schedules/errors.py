"""Errors of schedules. Each names the cure."""

from app.core.errors import Invalid, NotFound, TooMany


class ScheduleUnknown(NotFound):
    """There is no such schedule, or it belongs to another owner."""

    sentence = "There is no schedule with this id. GET /schedules lists yours."


class NoticeUnknown(NotFound):
    """There is no such notice, or it belongs to another owner."""

    sentence = "There is no notice with this id. GET /notices lists yours."


class TooManySchedules(Invalid):
    """The owner has as many schedules as an owner may have."""

    problem = "too-many-schedules"
    title = "Too many schedules"
    sentence = "You have {most} schedules, as many as an owner may have. Delete one first."


class BadTimes(Invalid):
    """The cron expression or the time zone cannot be used."""

    problem = "schedule-times"
    title = "These times cannot be used"


class BadCondition(Invalid):
    """The condition does not fit what the schedule runs."""

    problem = "schedule-condition"
    title = "This condition cannot be used"


class TargetRefused(Invalid):
    """KAI does not send to this mail address or chat."""

    problem = "schedule-target"
    title = "KAI does not send there"


class OwnRowsOnly(TargetRefused):
    """The database shows each person their own rows, which go to no one else."""

    sentence = (
        "This database shows each person what its policies let them see, so a schedule sends nothing of it "
        "by mail, chat or webhook: it would reach others. Leave the targets out; the notice is in KAI."
    )


class TestedBefore(TooMany):
    """The targets of this schedule were tested a moment ago."""

    problem = "tested-before"
    title = "Tested a moment ago"
