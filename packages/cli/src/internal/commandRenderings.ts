import type { CommandReason } from "../CommandError.ts"
import type { Renderings } from "./rendering.ts"

export const commandRenderings: Renderings<CommandReason> = {
  UsageInvalid: ({ detail, instead }) => ({ line: detail, next: instead }),
  InstructionUnreadable: ({ file }) => ({
    line: `cannot read the instruction file ${file}`,
    next: "check the path, or give the text itself with --instruction TEXT"
  }),
  ApiKeyVariablesMissing: ({ endpointsFile, missing }) => ({
    line:
      missing.length === 1
        ? `no API key for the endpoint ${missing[0].endpoint}: the variable ${missing[0].variable} is not set`
        : `no API keys for ${missing.length} endpoints: their variables are not set`,
    detail:
      missing.length === 1
        ? [`${endpointsFile} names the variable`]
        : missing.map(({ endpoint, variable }) => `${variable} for the endpoint ${endpoint}`),
    next: `set ${missing.map(({ variable }) => variable).join(" and ")} and run the command again`
  }),
  SecretVariableMissing: ({ flag, variable }) => ({
    line: `${flag} names the variable ${variable}, which is not set`,
    next: `set ${variable}, or leave ${flag} out`
  }),
  SecretVariableInvalid: ({ expected, flag, variable }) => ({
    line: `${flag} names the variable ${variable}, which holds no key`,
    next: `set ${variable} to ${expected}`
  }),
  DirectoryNotEmpty: ({ directory }) => ({
    line: `${directory} has files already, and a bundle is never written over another`,
    next: "give another directory with --out, or move this one away"
  }),
  UploadMissing: ({ source }) => ({
    line: `there is no file or folder ${source} to upload`,
    next: "correct the part of --upload FILE:PATH before the colon"
  }),
  StackDirectoryMissing: ({ directory }) => ({
    line: `there is no stack directory ${directory}`,
    next: "give the directory that holds buzz-acp, buzz-agent and buzz-dev-mcp, or --stack reference"
  }),
  ReferenceStackUnavailable: ({ detail }) => ({
    line: "the reference stack is not available",
    detail: detail.split("\n").filter((text) => text !== ""),
    next: "install @buzz-orchestra/reference-stack beside this command, or give a stack with --stack DIR"
  }),
  ExampleMissing: ({ directory }) => ({
    line: `the files of the demo are not in ${directory}`,
    next: "install the package again; it ships them"
  }),
  RelayNotServed: ({ detail, host, port }) => ({
    line: `cannot listen on ${host}:${port}: ${detail}`,
    next: "give another port with --port, or --port 0 for any free one"
  }),
  RelayCertificatesUnreadable: ({ detail, file }) => ({
    line: `the certificates in ${file} cannot be used: ${detail}`,
    next: "give --relay-ca a file that starts with -----BEGIN CERTIFICATE-----"
  }),
  RelayDataUnusable: ({ detail, directory }) => ({
    line: `the relay's data in ${directory} cannot be used: ${detail}`,
    next: "end the relay that uses it, or give another directory with --data"
  }),
  EngineUnavailable: ({ detail }) => ({
    line: `no container can be had: ${detail}`,
    next: /EACCES|EPERM|permission denied/i.test(detail)
      ? "run it as a user who may use the engine: root, or a member of the group that owns its socket"
      : "start Docker or Podman, or set DOCKER_HOST to where it listens, such as unix:///var/run/docker.sock"
  }),
  RelayNotReached: ({ detail, environment, relayUrl }) => ({
    line: `the relay ${relayUrl} is not reached from ${environment}: ${detail}`,
    next: "give the container a network from which this machine is reached, with --network"
  }),
  NoEnvironmentWorks: () => ({
    line: "no trial can run on this machine: neither a local sandbox nor a container works",
    next: "do what stands beside sandbox, engine or container above; one of the two is enough. --environment plain needs neither, and protects nothing"
  }),
  LeftoversRemain: ({ count, detail, first }) => ({
    line: `${count} of what a killed harness left could not be removed, such as ${first}: ${detail}`,
    next: "run it as the user who ran the harness, or as root"
  }),
  BundleNotReadable: ({ detail, directory }) => ({
    line: `${directory} cannot be read as the bundle of a trial: ${detail}`,
    next: "give the directory that --out named, or one below trials/"
  }),
  BundleNotVerified: ({ count, directory, first }) => ({
    line: `${directory} is not as it should be: ${count === 1 ? first : `${count} problems, the first: ${first}`}`,
    next: "take the bundle from where it was made, or complete one of a killed harness with bundle finish"
  }),
  SecretsInBundle: ({ directory, places }) => ({
    line: `a secret stands in ${directory}`,
    detail: places,
    next: "do not publish the bundle; revoke the secret, and take it out of what the trial was given"
  }),
  PageNotWritten: ({ detail, file }) => ({
    line: `cannot write ${file}: ${detail}`,
    next: "give a file in a directory that can be written"
  })
}
