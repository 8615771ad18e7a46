/**
 * Effect's services on Node, as the command uses them: the root of this repository has no dependency on them, the command's
 * is taken, so that both measure the same code.
 */
export * as NodeCrypto from "../node_modules/.pnpm/node_modules/@effect/platform-node/dist/NodeCrypto.js"
export * as NodeHttpServer from "../node_modules/.pnpm/node_modules/@effect/platform-node/dist/NodeHttpServer.js"
export * as NodeRuntime from "../node_modules/.pnpm/node_modules/@effect/platform-node/dist/NodeRuntime.js"
export * as NodeServices from "../node_modules/.pnpm/node_modules/@effect/platform-node/dist/NodeServices.js"
export * as NodeWS from "../node_modules/.pnpm/node_modules/@effect/platform-node/dist/NodeWS.js"
