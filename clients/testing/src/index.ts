/**
 * Starts Tenantry with its sandbox for tests: docs/testing.md.
 */
export type { StartOptions } from './program.js'
export { cards, Sandbox, startSandbox, type Mail, type Owner, type OwnerOptions, type ReceivedWebhook } from './sandbox.js'
