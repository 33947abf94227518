import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

/** How the service is started. */
export interface StartOptions {
  /**
   * The program `tenantry`: its path, or its name where it is in PATH. By default what TENANTRY_BIN
   * names, else `tenantry`.
   */
  program?: string
  /** A folder with Tenantry's source, from which Go builds the program instead. */
  source?: string
  /** Settings of the service, such as `{TENANTRY_FRONTEND_URL: 'http://127.0.0.1:3000'}`. Those of the shell are not taken. */
  settings?: Record<string, string>
  /** Where the service listens; a free port of this machine by default. */
  address?: string
  /** For how many milliseconds to wait until it is ready: 60,000 by default. */
  timeout?: number
}

/** A service that runs. */
export interface Running {
  url: string
  log(): string
  stop(): Promise<void>
}

/** Starts `tenantry dev` with data of its own and waits until it is ready. */
export async function start(key: string, options: StartOptions): Promise<Running> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tenantry-'))
  const clean = () => rm(folder, { recursive: true, force: true })
  try {
    const program = options.source ? await build(options.source, folder) : (options.program ?? process.env.TENANTRY_BIN ?? 'tenantry')
    const args = ['dev', '--addr', options.address ?? '127.0.0.1:0', '--data', path.join(folder, 'data')]
    const child = spawn(program, args, { env: environment(key, options.settings), stdio: ['ignore', 'pipe', 'pipe'] })
    const letGo = killWithUs(child, folder)
    const ended = new Promise<void>((resolve) => {
      child.once('close', () => resolve())
      child.once('error', () => resolve())
    })
    let log = ''
    child.stderr?.on('data', (text: Buffer) => {
      log = (log + text.toString()).slice(-1_000_000)
    })
    const stop = async () => {
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), 10_000)
      await ended
      clearTimeout(late)
      letGo()
      await clean()
    }
    try {
      return { url: await ready(child, options.timeout ?? 60_000, () => log), log: () => log, stop }
    } catch (error) {
      await stop()
      throw error
    }
  } catch (error) {
    await clean()
    throw error
  }
}

/** Ends the program and deletes its data with this program, also when a signal ends it; returns what calls that off. */
function killWithUs(child: ChildProcess, folder: string): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const exiting = () => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
  const signalled = (signal: NodeJS.Signals) => {
    exiting()
    off()
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal) // what would have happened without us
  }
  const off = () => {
    process.off('exit', exiting)
    for (const signal of signals) process.off(signal, signalled)
  }
  process.on('exit', exiting)
  for (const signal of signals) process.on(signal, signalled)
  return off
}

async function build(source: string, folder: string): Promise<string> {
  const program = path.join(folder, 'tenantry')
  await promisify(execFile)('go', ['build', '-o', program, './cmd/tenantry'], { cwd: source })
  return program
}

/** Returns the environment without settings that a developer's shell may have. */
function environment(key: string, settings: Record<string, string> = {}): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(TENANTRY|OTEL)_/.test(name))
  return { ...Object.fromEntries(own), TENANTRY_RATE_LIMITS: 'off', TENANTRY_STRIPE_SECRET_KEY: key, ...settings }
}

/** Waits for the banner, which the program writes once it takes requests and has its demo data; returns the URL. */
function ready(child: ChildProcess, timeout: number, log: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string, cause?: unknown) => {
      clearTimeout(late)
      reject(new Error(`${why}\n${log()}`.trim(), { cause }))
    }
    const late = setTimeout(fail, timeout, `tenantry dev was not ready after ${timeout} ms.`)
    let banner = ''
    child.stdout?.on('data', (text: Buffer) => {
      banner += text.toString()
      const url = /Start here (\S+)\/sandbox/.exec(banner)?.[1]
      if (!url || !banner.includes('Ctrl-C')) return
      clearTimeout(late)
      resolve(url)
    })
    child.once('error', (cause: NodeJS.ErrnoException) => {
      const hint = cause.code === 'ENOENT' ? ': there is no such program. Set TENANTRY_BIN, or the option program or source.' : '.'
      fail(`${child.spawnfile} cannot be started${hint}`, cause)
    })
    child.once('close', (code) => fail(`tenantry dev ended with status ${code}.`))
  })
}
