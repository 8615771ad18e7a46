/**
 * What a subscription receives after its history. There are two scopes that never mix: a subscription to one channel
 * gets that channel's events, every other subscription gets events that belong to no channel.
 */
import { type Filter, matchesAny } from "../Filter.ts"
import { isChannelId } from "./Channel.ts"
import type { StoredEvent } from "./EventStore.ts"
import * as PreparedFilter from "./PreparedFilter.ts"

/** What one `REQ` asked for. */
export interface Subscription {
  readonly filters: ReadonlyArray<Filter>
  /** The channel, for a subscription whose every filter names exactly this one in `#h`; absent for a global one. */
  readonly channelId: string | undefined
}

/** Subscriptions that one connection may hold. */
export const MAX_SUBSCRIPTIONS = 1024

/** Filters that one subscription may have. */
export const MAX_FILTERS = 10

/** Reads the scope off the filters. */
export const make = (filters: ReadonlyArray<Filter>): Subscription => {
  const channels = new Set(filters.map(onlyChannel))
  const [channelId] = channels
  return { filters: filters.map(PreparedFilter.make), channelId: channels.size === 1 ? channelId : undefined }
}

/** Whether a new event goes to this subscription, as far as its filters and scope decide. */
export const wants = (subscription: Subscription, stored: StoredEvent): boolean =>
  subscription.channelId === stored.channelId && matchesAny(subscription.filters, stored.event, stored.channelId)

const onlyChannel = (filter: Filter): string | undefined => {
  const [channelId, ...others] = new Set(filter["#h"])
  return channelId !== undefined && others.length === 0 && isChannelId(channelId) ? channelId : undefined
}
