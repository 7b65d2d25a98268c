"""The quota controller: gives back what pods used that are gone or finished."""

from evenkeel_sandbox.simulator.api.objects import Obj, at, is_finished, key_of
from evenkeel_sandbox.simulator.api.quota import total
from evenkeel_sandbox.simulator.controllers.work import Controller, Work


class QuotaController(Controller):
    """Keeps the status of ResourceQuotas."""

    kind = "ResourceQuota"

    def observe(self) -> None:
        """Watch quotas, and pods that end."""
        self.store.observe("ResourceQuota", self._quota_changed)
        self.store.observe("Pod", self._pod_changed)

    def reconcile_object(self, quota: Obj) -> Work:
        """Count one quota again."""
        key = key_of(quota)
        hard = at(quota, "spec", "hard", default={})

        def edit(now: Obj) -> Obj:
            used = total(list(self.store.all("Pod", key[0])), hard)
            return {**now, "status": {"hard": hard, "used": used}}

        if edit(quota) != quota:
            yield lambda: self.server.change("ResourceQuota", key, edit, "status")

    def _quota_changed(self, old: Obj | None, new: Obj | None) -> None:
        if new is not None and (old is None or old["spec"] != new["spec"]):
            self.enqueue(key_of(new))

    def _pod_changed(self, old: Obj | None, new: Obj | None) -> None:
        if old is not None and (new is None or (is_finished(new) and not is_finished(old))):
            for quota in self.store.all("ResourceQuota", key_of(old)[0]):
                self.enqueue(key_of(quota))
