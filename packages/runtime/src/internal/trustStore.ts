/**
 * The system's certificates in an environment. The stack is told where its own are; what a task installs reads the system's,
 * which many images lack.
 */
import { Effect } from "effect"
import { EnvironmentService, type ExecOptions } from "../EnvironmentService.ts"
import type { Layout } from "../Layout.ts"
import type { TrustStore } from "../StackInstaller.ts"
import { quote } from "./shellText.ts"

/** Where Debian and its descendants keep them, and where most TLS libraries of other systems look as well. */
export const SYSTEM_STORE = "/etc/ssl/certs/ca-certificates.crt"

/** An empty file is what an installation that broke off leaves behind, and counts as none. */
export const lookScript = (store: string): string => `[ -s ${quote(store)} ] && echo present || echo failed`

/** Prints `present`, `seeded` or `failed`. The file appears only when it is complete. */
export const seedScript = (store: string, bundle: string): string => {
  const [target, directory] = [quote(store), quote(store.slice(0, store.lastIndexOf("/")))]
  const fresh = quote(`${store}.buzz`)
  return `if [ -s ${target} ]; then echo present
elif mkdir -p ${directory} && cp -- ${quote(bundle)} ${fresh} && chmod 644 ${fresh} && mv -f -- ${fresh} ${target}
then echo seeded
else
  rm -f -- ${fresh}
  echo failed
fi 2>/dev/null`
}

/** What the scripts printed; silence is no store. */
export const parseTrustStore = (stdout: string): TrustStore => {
  const said = stdout.trim()
  return said === "present" || said === "seeded" ? said : "failed"
}

/** Who may write it where the environment's own user may not. */
const ROOT = "0"

/**
 * Seeds the system's store of a container from the stack's bundle where it is absent or empty, and says what holds then. Elsewhere
 * it is only looked at: it belongs to this machine. Nothing here ends a trial.
 */
export const ensureTrustStore = Effect.fnUntraced(function* (
  layout: Layout
): Effect.fn.Return<TrustStore, never, EnvironmentService> {
  const { exec, facts } = yield* EnvironmentService
  const ask = (script: string, options: ExecOptions) =>
    exec(script, { cwd: "/", ...options }).pipe(
      Effect.map(({ stdout }) => parseTrustStore(stdout)),
      Effect.orElseSucceed((): TrustStore => "failed")
    )
  if (facts.container === undefined) return yield* ask(lookScript(SYSTEM_STORE), {})
  const script = seedScript(SYSTEM_STORE, layout.caBundle)
  const found = yield* ask(script, {})
  return found === "failed" ? yield* ask(script, { user: ROOT }) : found
})
