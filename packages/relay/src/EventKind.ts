/**
 * The event kinds that this project sends, reads or refuses, by name. Ranges follow NIP-01.
 */

/** Profile; content is JSON. Replaceable. */
export const Profile = 0
/** Deletion of one's own event. */
export const Deletion = 5
/** Reaction to an event. */
export const Reaction = 7
/** Channel message. */
export const Message = 9
/** Adds a member to a channel (`h`, `p`, `role`). */
export const AddMember = 9000
/** Removes a member from a channel (`h`, `p`). */
export const RemoveMember = 9001
/** Edits a channel's metadata, also `archived`. */
export const EditMetadata = 9002
/** Deletes a message as its author or as an administrator of the channel. */
export const DeleteMessage = 9005
/** Creates a channel under the UUID in `h`. */
export const CreateChannel = 9007
/** Deletes a channel. */
export const DeleteChannel = 9008
/** Joins an open channel. */
export const JoinChannel = 9021
/** Leaves a channel. */
export const LeaveChannel = 9022
/** Adds a member to a closed relay (`p`, `role`). Carried out, never kept. */
export const AddRelayMember = 9030
/** Removes a member from a closed relay (`p`). Carried out, never kept. */
export const RemoveRelayMember = 9031
/** Changes what a member of a closed relay is (`p`, `role`). Carried out, never kept. */
export const ChangeRelayRole = 9032
/** Leaves a closed relay (`-`). Carried out, never kept. */
export const LeaveRelay = 28936
/** Somebody was added to a closed relay, signed by the relay. */
export const RelayMemberAdded = 8000
/** Somebody was removed from a closed relay, signed by the relay. */
export const RelayMemberRemoved = 8001
/** The members of a closed relay, signed by the relay. Replaceable. */
export const RelayMembers = 13534
/** Policy of an agent: who may add it to channels. Replaceable. */
export const AgentProfile = 10100
/** Online, away or offline. Ephemeral, not bound to a channel. */
export const Presence = 20001
/** Somebody is typing in a channel. Ephemeral. */
export const Typing = 20002
/** Answer to a relay's challenge (NIP-42). Never stored. */
export const RelayAuth = 22242
/** Frame of an agent's observer. Ephemeral; readable only by the one it names. */
export const ObserverFrame = 24200
/** Authorisation of one HTTP request (NIP-98). Never stored. */
export const HttpAuth = 27235
/** An agent's encrypted memory. Addressable. */
export const Engram = 30174
/** Snapshot of a viewer's hidden direct messages, signed by the relay. */
export const HiddenDirectMessages = 30622
/** A channel's metadata, signed by the relay; `d` is the UUID. */
export const ChannelMetadata = 39000
/** A channel's administrators, signed by the relay. */
export const ChannelAdmins = 39001
/** A channel's members, signed by the relay. */
export const ChannelMembers = 39002
/** Channel message, second form. */
export const MessageV2 = 40002
/** New text for a message; `e` is the target. */
export const MessageEdit = 40003
/** Reminder; wakes like a message. */
export const Reminder = 40007
/** A diff posted to a channel. */
export const Diff = 40008
/** System message of a channel, signed by the relay. */
export const SystemMessage = 40099
/** Query-only view of presence, answered by the relay with synthetic presence events. */
export const PresenceSnapshot = 40902
/** Somebody was added to a channel, signed by the relay; readable only by the one it names. */
export const MemberAdded = 44100
/** Somebody was removed from a channel, signed by the relay; readable only by the one it names. */
export const MemberRemoved = 44101
/** Forum post. */
export const ForumPost = 45001
/** Comment on a forum post. */
export const ForumComment = 45003
/** A workflow asks for approval; wakes like a message. */
export const ApprovalRequested = 46010
/** Gift wrap (NIP-59); readable only by the one it names. */
export const GiftWrap = 1059

/** Kept only as the newest of its author (kinds 0, 3, 41 and 10000–19999). */
export const isReplaceable = (kind: number): boolean =>
  kind === 0 || kind === 3 || kind === 41 || (kind >= 10_000 && kind < 20_000)

/** Passed on and never stored (20000–29999). */
export const isEphemeral = (kind: number): boolean => kind >= 20_000 && kind < 30_000

/** Kept only as the newest of its author and `d` tag (30000–39999). */
export const isAddressable = (kind: number): boolean => kind >= 30_000 && kind < 40_000

/** Kinds that only the one named in `p` may read. */
export const P_GATED: ReadonlySet<number> = new Set([
  ObserverFrame,
  MemberAdded,
  MemberRemoved,
  GiftWrap,
  HiddenDirectMessages
])
