/**
 * The directories of a task in a container.
 */

/** Artifacts and evidence for verifiers. */
export const LOGS_DIRECTORY = "/logs"

/** The verifiers'. */
export const TESTS_DIRECTORY = "/tests"

/** Where the task is when neither image nor container says. */
const DEFAULT_WORK_DIRECTORY = "/app"

/** Whether an image or a container says where the task is: Podman says `/` where Docker says nothing. */
export const namesWorkDirectory = (workDirectory: string): boolean => workDirectory !== "" && workDirectory !== "/"

/** Where the task is. */
export const workDirectoryOf = ({ workDirectory }: { readonly workDirectory: string }): string =>
  namesWorkDirectory(workDirectory) ? workDirectory : DEFAULT_WORK_DIRECTORY
