"""Posts what is told of interruptions to a URL, for what runs without Lambda and EventBridge."""

from typing import Final
from urllib.parse import urlsplit

import msgspec
import urllib3
from botocore.utils import get_environ_proxies
from urllib3.exceptions import HTTPError

from evenkeel.errors import NotificationError
from evenkeel.model.notification import Notification

TIMEOUT: Final = urllib3.Timeout(connect=2, read=5)

HEADERS: Final = {"Content-Type": "application/json", "User-Agent": "evenkeel"}


class UrlNotifications:
    """Implements the port Notifications, by one POST of the document for each.

    Slack's incoming webhooks take it: they read the field ``text``. A URL often holds a secret, so
    no error has more of it than the host. Through the environment's proxy, if there is one.
    """

    def __init__(self, url: str) -> None:
        """Nothing is sent yet."""
        parts = urlsplit(url)
        proxy = get_environ_proxies(url).get(parts.scheme)
        self._url = url
        self._host = parts.hostname
        self._pool = urllib3.ProxyManager(proxy) if proxy else urllib3.PoolManager()

    def send(self, notification: Notification) -> None:
        """Post one, once. Raises NotificationError unless the answer is a 2xx."""
        body = msgspec.json.encode(notification)
        try:
            answer = self._pool.request(
                "POST", self._url, body=body, headers=HEADERS, timeout=TIMEOUT, retries=False
            )
        except HTTPError as error:
            raise NotificationError(f"{self._host}: {type(error).__name__}") from error
        if not 200 <= answer.status < 300:
            raise NotificationError(f"{self._host} answered {answer.status}")
