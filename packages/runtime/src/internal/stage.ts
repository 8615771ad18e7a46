/**
 * What of a trial exists so far, for the clean-up: it must know what there is to end and to keep, however far the
 * trial came.
 */
import type { Actor } from "@buzz-orchestra/relay/BuzzClient"
import type { AgentUser } from "../AgentUsers.ts"
import type { Supervision } from "../AgentSupervisor.ts"
import type { LogCapture } from "../LogCapture.ts"
import type { InstalledStack } from "../StackInstaller.ts"
import type { ChannelView } from "./channelView.ts"

export interface Stage {
  readonly stack?: InstalledStack
  /** The agents' own users, where they have some. */
  readonly users?: ReadonlyArray<AgentUser>
  readonly capture?: LogCapture
  readonly supervision?: Supervision
  readonly channel?: ChannelView
  /** The user on the relay, once the channel is observed. */
  readonly actor?: Actor
  /** The agent whose finishing message ended the trial. */
  readonly finishing?: string
}
