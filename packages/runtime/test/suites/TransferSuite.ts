/** Files into and out of an environment. */
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem, Redacted } from "effect"
import { hostFolder } from "./TransferContract.ts"
import { SOAKING } from "../matrix/support/Cases.ts"
import { ALL_BYTES, encode } from "../support/bytes.ts"
import { type EnvironmentIt, type EnvironmentSuiteOptions, output, scratch } from "../support/environment.ts"

const LARGE = (SOAKING ? 20 : 4) * 1024 * 1024

/** `ls -ln` of the sandbox's user is the oracle for mode and owner. */
const modeOf = (path: string) => Effect.map(output(`ls -ld '${path}'`), (line) => line.slice(0, 10))

const ODD_NAMES = ["with space", "-dash", "quo'te\"s", "line\nbreak", "ümläut €", "$HOME", "*"]

export const transferSuite = (it: EnvironmentIt, options: EnvironmentSuiteOptions): void => {
  describe("transfer", () => {
    it.effect("gives files their mode", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        const place = yield* scratch
        yield* environment.upload({ content: encode("x") }, `${place}/a/given`, { mode: 0o640 })
        yield* environment.upload({ content: Redacted.make("x") }, `${place}/a/secret`, { mode: 0o600 })
        yield* environment.upload({ content: encode("") }, `${place}/a/default`)
        yield* environment.upload({ content: encode("x") }, `${place}/a/program`, { mode: 0o755 })
        assert.deepStrictEqual(
          yield* Effect.forEach(["given", "secret", "default", "program"], (name) => modeOf(`${place}/a/${name}`)),
          ["-rw-r-----", "-rw-------", "-rw-r--r--", "-rwxr-xr-x"]
        )
        assert.strictEqual(yield* output(`ls -A ${place}/a | wc -l | tr -d ' '`), "4\n")
      })
    )

    it.effect("uploads a file as it is here, and replaces one that runs", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        const fs = yield* FileSystem.FileSystem
        const place = yield* scratch
        const host = yield* hostFolder
        yield* fs.writeFileString(`${host}/program`, "#!/bin/sh\nexec sleep 1000\n", { mode: 0o755 })
        yield* fs.chmod(`${host}/program`, 0o755)
        yield* environment.upload({ path: `${host}/program` }, `${place}/program`)
        assert.strictEqual(yield* modeOf(`${place}/program`), "-rwxr-xr-x")
        yield* output(`cp /bin/sleep ${place}/sleep; ${place}/sleep 1000 >/dev/null 2>&1 & echo $! >${place}/pid`)
        yield* environment.upload({ path: `${host}/program` }, `${place}/sleep`, { mode: 0o700 })
        assert.include(yield* output(`cat ${place}/sleep`), "exec sleep")
        yield* output(`kill $(cat ${place}/pid)`)
      })
    )

    it.effect("moves large files there and back unchanged", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        const fs = yield* FileSystem.FileSystem
        const place = yield* scratch
        const host = yield* hostFolder
        const bytes = new Uint8Array(LARGE).map((_, index) => (index * 31 + (index >> 8)) % 256)
        yield* fs.writeFile(`${host}/large`, bytes)
        yield* environment.upload({ path: `${host}/large` }, `${place}/large`)
        yield* environment.upload({ content: bytes.subarray(0, 100_001) }, `${place}/medium`)
        assert.strictEqual((yield* output(`wc -c <${place}/medium`)).trim(), "100001")
        yield* environment.download(`${place}/large`, `${host}/back`)
        assert.isTrue(Buffer.from(yield* fs.readFile(`${host}/back`)).equals(bytes))
      })
    )

    it.effect("takes any name", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        const fs = yield* FileSystem.FileSystem
        const place = yield* scratch
        const host = yield* hostFolder
        for (const name of ODD_NAMES) {
          yield* environment.upload({ content: encode(name) }, `${place}/${name}/${name}`)
          yield* environment.download(`${place}/${name}/${name}`, `${host}/${name}`)
          assert.strictEqual(yield* fs.readFileString(`${host}/${name}`), name)
        }
        assert.deepStrictEqual(yield* environment.downloadDirectory(place, `${host}/all`), [])
        for (const name of ODD_NAMES) assert.strictEqual(yield* fs.readFileString(`${host}/all/${name}/${name}`), name)
      })
    )

    it.effect("refuses what cannot be written or read", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        const place = yield* scratch
        const host = yield* hostFolder
        const errors = yield* Effect.all([
          Effect.flip(environment.upload({ content: encode("x") }, place)),
          Effect.flip(environment.upload({ content: encode("x") }, "/proc/version/x")),
          Effect.flip(environment.upload({ content: new Uint8Array(100_000) }, "/proc/version/x")),
          Effect.flip(environment.upload({ path: host }, `${place}/x`)),
          Effect.flip(environment.download(place, `${host}/x`)),
          Effect.flip(environment.downloadDirectory(`${place}/missing`, `${host}/x`)),
          Effect.flip(environment.uploadDirectory(host, "/proc/version/x"))
        ])
        for (const { message, reason } of errors) assert.strictEqual(reason._tag, "TransferFailed", message)
      })
    )

    it.effect.skipIf(options.otherUser === undefined)("gives a file to whom it belongs", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        const place = yield* scratch
        const owner = options.otherUser ?? ""
        yield* output(`chmod 711 ${place}`)
        yield* environment.upload({ content: encode("mine") }, `${place}/theirs`, { mode: 0o600, owner })
        const seen = yield* environment.exec(`cat ${place}/theirs`, { user: owner, cwd: "/" })
        assert.strictEqual(seen.stdout, "mine")
        assert.match(yield* output(`ls -l ${place}/theirs`), new RegExp(`^-rw------- +1 ${owner} `))
      })
    )

    it.effect("copies folders there and back: depth, modes, links, empty folders, long names", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        const fs = yield* FileSystem.FileSystem
        const place = yield* scratch
        const host = yield* hostFolder
        const long = `${"long-name/".repeat(15)}file`
        yield* fs.makeDirectory(`${host}/in/${"long-name/".repeat(15)}`, { recursive: true })
        yield* fs.makeDirectory(`${host}/in/empty`)
        yield* fs.writeFile(`${host}/in/${long}`, ALL_BYTES)
        yield* fs.writeFileString(`${host}/in/run`, "#!/bin/sh\necho ran\n")
        yield* fs.chmod(`${host}/in/run`, 0o750)
        yield* fs.symlink("run", `${host}/in/link`)
        yield* environment.uploadDirectory(`${host}/in`, `${place}/copy`)
        assert.strictEqual(yield* output(`${place}/copy/link`), "ran\n")
        assert.strictEqual(yield* modeOf(`${place}/copy/run`), "-rwxr-x---")
        assert.strictEqual(yield* modeOf(`${place}/copy/empty`), "drwxr-xr-x")
        assert.deepStrictEqual(yield* environment.downloadDirectory(`${place}/copy`, `${host}/out`), [])
        assert.deepStrictEqual(yield* fs.readFile(`${host}/out/${long}`), ALL_BYTES)
        assert.strictEqual((yield* fs.stat(`${host}/out/run`)).mode & 0o777, 0o750)
        assert.strictEqual(yield* fs.readLink(`${host}/out/link`), "run")
        assert.deepStrictEqual(yield* fs.readDirectory(`${host}/out/empty`), [])
      })
    )

    it.effect("copies no more than it may, and names what it left", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        const fs = yield* FileSystem.FileSystem
        const place = yield* scratch
        const host = yield* hostFolder
        yield* output(`cd ${place}; head -c 5000 /dev/zero >large; echo small >small; ln large again; mkdir full`)
        yield* output(`cd ${place}/full; for i in 0 1 2 3 4 5 6 7 8 9; do echo $i >$i; done`)
        const bytes = { maxBytes: 4096, maxFiles: 100 }
        const large = yield* environment.downloadDirectory(place, `${host}/bytes`, bytes)
        assert.deepStrictEqual([...large].toSorted(), ["again", "large"])
        assert.strictEqual(yield* fs.readFileString(`${host}/bytes/small`), "small\n")
        assert.strictEqual(yield* fs.readFileString(`${host}/bytes/full/9`), "9\n")
        const many = yield* environment.downloadDirectory(place, `${host}/files`, { maxBytes: 100_000, maxFiles: 6 })
        const copied = yield* fs.readDirectory(`${host}/files`, { recursive: true })
        assert.isAtMost(copied.length, 6)
        assert.strictEqual(many.length + copied.filter((name) => name !== "full").length, 13)
      })
    )

    it.effect("names what a folder has that cannot be copied, and copies the rest", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        const fs = yield* FileSystem.FileSystem
        const place = yield* scratch
        const host = yield* hostFolder
        yield* output(
          `cd ${place}; mkfifo fifo; echo kept >kept; ln kept same; ln -s /etc/passwd out; ln -s ../../../x climbs; ` +
            // By its words alone it leads to `self`.
            `ln -s . self; ln -s self/self/.. sly`
        )
        const missing = yield* environment.downloadDirectory(place, `${host}/out`)
        assert.deepStrictEqual([...missing].toSorted(), ["climbs", "fifo", "out", "sly"])
        assert.strictEqual(yield* fs.readFileString(`${host}/out/kept`), "kept\n")
        assert.strictEqual(yield* fs.readFileString(`${host}/out/same`), "kept\n")
        assert.deepStrictEqual((yield* fs.readDirectory(`${host}/out`)).toSorted(), ["kept", "same", "self"])
      })
    )
  })
}
