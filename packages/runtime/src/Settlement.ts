/**
 * Whether an agent still owes the usage of its last turn. Tokens are paid for when they are used, and reported some time
 * during the turn or shortly after it; ending the agent before that loses the number for good. Pure.
 */
import type { AgentSignal } from "./AgentSignal.ts"

/** What is known of one agent's reports. */
export interface Settlement {
  /** Its last turn has not been reported. */
  readonly owes: boolean
  /** It reported since the last turn ended; tells builds apart that log no start of a turn. */
  readonly reported: boolean
}

/** Never woken: it owes nothing. */
export const initial: Settlement = { owes: false, reported: false }

/** After a signal of its log. `starts` is how many turns have logged their start so far. */
export const heard = (settlement: Settlement, signal: AgentSignal, starts: number): Settlement => {
  switch (signal._tag) {
    case "Usage":
      // What settles a turn that is over says nothing of the next one.
      return { owes: false, reported: !settlement.owes }
    case "TurnStarted":
      return { owes: true, reported: settlement.reported }
    case "TurnEnded":
    case "TurnFailed":
      return { owes: starts > 0 ? settlement.owes : !settlement.reported, reported: false }
    default:
      return settlement
  }
}
