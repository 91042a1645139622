"""A model's failures, as the graph knows them and as a run tells them."""

from collections.abc import Generator
from contextlib import contextmanager

from app.core.errors import problem_type
from app.core.llm import model
from graph import errors
from graph.events import Failure


@contextmanager
def model_errors_translated() -> Generator[None]:
    """Around a call of a model: raises `graph.errors.ModelCallFailed` and `ModelCallRejected`."""
    try:
        yield
    except model.ModelUnavailable as error:
        raise errors.ModelCallFailed(str(error)) from error
    except model.ModelRejected as error:
        raise errors.ModelCallRejected(str(error)) from error


def stand_in_notice(failure: errors.ModelCallFailed | errors.ModelCallRejected, instead: str) -> Failure:
    """An error the run survives: if it is retryable, asking again may bring the model's answer."""
    cure = ["Ask again to have the model try."] if failure.retryable else []
    return Failure(
        type=problem_type(failure.problem),
        title=failure.title,
        status=failure.status,
        detail=" ".join([failure.detail, instead, *cure]),
        retryable=failure.retryable,
    )
