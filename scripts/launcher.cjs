#!/usr/bin/env node
// The beginning of the one-file command: unpacks what follows it once, then runs it from there. `binary.mjs` puts in the two
// texts in capitals and appends the payload: a gzipped JSON object of files, in base64, in the last line.
"use strict"
const { createHash, randomBytes } = require("node:crypto")
const fs = require("node:fs")
const module_ = require("node:module")
const { homedir, tmpdir } = require("node:os")
const { dirname, join } = require("node:path")
const { pathToFileURL } = require("node:url")
const { gunzipSync } = require("node:zlib")

const VERSION = "@VERSION@"
/** sha256 of the payload, gzipped. */
const DIGEST = "@DIGEST@"
const PAYLOAD = "\n//payload:"

const fail = (text) => {
  process.stderr.write(`error: ${text}\n`)
  process.exit(1)
}

const payload = () => {
  const text = fs.readFileSync(__filename, "latin1")
  const packed = Buffer.from(text.slice(text.lastIndexOf(PAYLOAD) + PAYLOAD.length), "base64")
  if (createHash("sha256").update(packed).digest("hex") !== DIGEST)
    fail(`${__filename} is damaged: it is not what was built. Copy or download it again.`)
  return JSON.parse(gunzipSync(packed))
}

const unpackInto = (directory) => {
  for (const [name, { mode, base64 }] of Object.entries(payload())) {
    const path = join(directory, name)
    fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    fs.writeFileSync(path, Buffer.from(base64, "base64"), { mode })
  }
}

/** Renamed when it is complete: whoever comes at the same time never sees half of it. */
const unpackOnce = (directory) => {
  const temporary = `${directory}.${process.pid}.${randomBytes(4).toString("hex")}`
  try {
    unpackInto(temporary)
    fs.renameSync(temporary, directory)
  } catch (error) {
    // Somebody else was first: theirs has the same content.
    if (!fs.existsSync(directory)) throw error
  } finally {
    fs.rmSync(temporary, { recursive: true, force: true })
  }
}

/** A directory of its own, removed in the end. A fixed name under /tmp could be somebody else's. */
const unpackForNow = (reason) => {
  const directory = fs.mkdtempSync(join(tmpdir(), "buzz-orchestra-"))
  process.on("exit", () => fs.rmSync(directory, { recursive: true, force: true }))
  process.stderr.write(`warning: unpacked for this run only, since the cache cannot be written: ${reason}\n`)
  unpackInto(directory)
  return directory
}

const unpacked = () => {
  const cache = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "buzz-orchestra")
  const directory = join(cache, DIGEST)
  try {
    if (!fs.existsSync(directory)) unpackOnce(directory)
  } catch (error) {
    if (!["EACCES", "EROFS", "EPERM", "ENOENT", "ENOTDIR", "ENOSPC"].includes(error.code)) throw error
    return unpackForNow(error.message)
  }
  module_.enableCompileCache?.(join(cache, "compiled"))
  return directory
}

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
const [first, ...rest] = process.argv.slice(2)
if (rest.length === 0 && (first === "--version" || first === "-v")) {
  process.stdout.write(`buzz-orchestra v${VERSION}\n`)
} else if (major < 22 || (major === 22 && minor < 19)) {
  fail(`buzz-orchestra needs Node 22.19 or later; this is ${process.versions.node}.`)
} else {
  import(pathToFileURL(join(unpacked(), "dist", "bin.js")).href)
}
