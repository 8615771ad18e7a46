/**
 * The Buzz relay: identities, wire protocol, client, provisioning, observer and an embedded relay.
 *
 * Modules of functions are namespaces here; packages of this repository import them by subpath instead. Not here, because
 * they load what not everybody has: `SchnorrWasm`, the `testing/` layers, and the parts of `server/`.
 */
export * from "./BuzzClient.ts"
export * as BuzzClientNative from "./BuzzClientNative.ts"
export * as ChannelHistory from "./ChannelHistory.ts"
export * as EventKind from "./EventKind.ts"
export * as EventSigning from "./EventSigning.ts"
export * as Filter from "./Filter.ts"
export * as Identity from "./Identity.ts"
export * as Nip42 from "./Nip42.ts"
export * as Nip98 from "./Nip98.ts"
export * from "./NostrEvent.ts"
export * as Observation from "./Observation.ts"
export * as OwnerAttestation from "./OwnerAttestation.ts"
export * from "./ProvisioningError.ts"
export * as RelayConnection from "./RelayConnection.ts"
export * from "./RelayError.ts"
export * from "./RelayObserver.ts"
export * as RelayObserverLive from "./RelayObserverLive.ts"
export * as RelayUrl from "./RelayUrl.ts"
export * as RetryPolicy from "./RetryPolicy.ts"
export * from "./Schnorr.ts"
export * from "./server/EmbeddedRelay.ts"
export * as Session from "./Session.ts"
export * as SessionState from "./SessionState.ts"
export * from "./TrialHandle.ts"
export * from "./TrialHandleStore.ts"
export * from "./TrialProvisioner.ts"
export * as TrialProvisionerLive from "./TrialProvisionerLive.ts"
export * as TrialRoster from "./TrialRoster.ts"
