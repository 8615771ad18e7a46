/**
 * Needs `node:os`, which knows this machine's network interfaces.
 */
import { networkInterfaces } from "node:os"

/** Whether a server on this machine can listen at the address. */
export const isOwnAddress = (address: string): boolean =>
  Object.values(networkInterfaces()).some((entries) => entries?.some((entry) => entry.address === address) === true)
