"""Signing in and out, and the routing of model requests (`providers/*`)."""

from pydantic import Field

from wire.acp.base import Bool, SomeOf, Str, Wire


class AuthenticateRequest(Wire):
    """Params of `authenticate`; a gateway method brings its address in `_meta.gateway`."""

    method_id: Str


class ProviderCurrentConfig(Wire):
    """Where the requests of a provider go now."""

    api_type: Str
    base_url: Str


class ProviderInfo(Wire):
    """One provider and the protocols it can be set to."""

    provider_id: Str
    supported: SomeOf[Str]
    required: Bool
    current: ProviderCurrentConfig | None = None


class ListProvidersResponse(Wire):
    """Result of `providers/list`."""

    providers: list[ProviderInfo]


class SetProviderRequest(Wire):
    """Params of `providers/set`; header values are secrets."""

    provider_id: Str
    api_type: Str
    base_url: Str
    headers: dict[Str, Str] = Field(default_factory=dict)


class DisableProviderRequest(Wire):
    """Params of `providers/disable`."""

    provider_id: Str
