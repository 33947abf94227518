// The hot routes of the service as a team would write them in a day, to compare with: Express, the
// SQLite of Node.js, a transaction for each request, durable before the answer (synchronous=FULL).
// It has one quota, no roles, no plans, no periods, no rate limits, no log and checks few fields.
//
//   node server.mjs PORT DATABASE SEED    SEED is a file of [{token, email, tenant}]
import { createHash, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import express from 'express'

const [port, file, seed] = process.argv.slice(2)
const db = new DatabaseSync(file)
db.exec(`
  PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
  CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE);
  CREATE TABLE sessions (hash TEXT PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users (id), expires_at INTEGER NOT NULL);
  CREATE TABLE members (tenant_id TEXT NOT NULL, user_id INTEGER NOT NULL REFERENCES users (id), PRIMARY KEY (tenant_id, user_id));
  CREATE TABLE meters (code TEXT PRIMARY KEY, quota INTEGER NOT NULL);
  CREATE TABLE events (id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, meter TEXT NOT NULL REFERENCES meters (code), quantity INTEGER NOT NULL,
    idempotency_key TEXT, metadata TEXT, recorded_at TEXT NOT NULL);
  CREATE UNIQUE INDEX events_key ON events (tenant_id, meter, idempotency_key);
  CREATE INDEX events_time ON events (tenant_id, meter, recorded_at);
  CREATE TABLE counters (tenant_id TEXT NOT NULL, meter TEXT NOT NULL REFERENCES meters (code), value INTEGER NOT NULL, PRIMARY KEY (tenant_id, meter));
`)
const hash = (token) => createHash('sha256').update(token).digest('hex')
db.exec('BEGIN')
db.prepare(`INSERT INTO meters VALUES ('api-calls', 1000000000000)`).run()
for (const { token, email, tenant } of JSON.parse(readFileSync(seed, 'utf8'))) {
  const { lastInsertRowid: id } = db.prepare('INSERT INTO users (email) VALUES (?)').run(email)
  db.prepare('INSERT INTO sessions VALUES (?, ?, ?)').run(hash(token), id, Date.now() + 86_400_000)
  db.prepare('INSERT INTO members VALUES (?, ?)').run(tenant, id)
}
db.exec('COMMIT')

const session = db.prepare('SELECT u.id, u.email FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.hash = ? AND s.expires_at > ?')
const member = db.prepare('SELECT 1 FROM members WHERE tenant_id = ? AND user_id = ?')
const tenants = db.prepare('SELECT tenant_id FROM members WHERE user_id = ?')
const meter = db.prepare('SELECT quota FROM meters WHERE code = ?')
const counter = db.prepare('SELECT value FROM counters WHERE tenant_id = ? AND meter = ?')
const quotas = db.prepare('SELECT m.code, m.quota, COALESCE(c.value, 0) AS used FROM meters m LEFT JOIN counters c ON c.meter = m.code AND c.tenant_id = ?')
const insert = db.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING')
const add = db.prepare('INSERT INTO counters VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = value + excluded.value')

const app = express()
app.disable('x-powered-by')
app.get('/readyz', (_, res) => res.end())
app.use((req, res, next) => {
  const token = (req.get('authorization') ?? '').replace('Bearer ', '')
  req.user = session.get(hash(token), Date.now())
  if (req.user) next()
  else res.status(401).json({ message: 'Unauthenticated.' })
})
const ofTenant = (req, res, next) => (member.get(req.params.tenant, req.user.id) ? next() : res.status(403).json({ message: 'Forbidden.' }))

app.get('/api/v1/auth/me', (req, res) => res.json({ ...req.user, tenants: tenants.all(req.user.id) }))
app.get('/api/v1/tenant/:tenant/usage/quotas', ofTenant, (req, res) => res.json({ data: quotas.all(req.params.tenant) }))
app.post('/api/v1/tenant/:tenant/usage', ofTenant, express.json(), (req, res) => {
  const { meter_code: code, quantity, idempotency_key: key = null, metadata } = req.body
  const { tenant } = req.params
  const known = meter.get(code)
  if (!known || !Number.isInteger(quantity) || quantity < 0) return res.status(422).json({ message: 'Invalid.' })
  const event = { id: randomUUID(), meter_code: code, quantity, idempotency_key: key, metadata, recorded_at: new Date().toISOString() }
  db.exec('BEGIN IMMEDIATE')
  try {
    const used = counter.get(tenant, code)?.value ?? 0
    if (used + quantity > known.quota) {
      db.exec('ROLLBACK')
      return res.status(403).json({ code: 'quota_exceeded' })
    }
    if (!insert.run(event.id, tenant, code, quantity, key, JSON.stringify(metadata ?? null), event.recorded_at).changes) {
      db.exec('ROLLBACK')
      return res.status(409).json({ code: 'duplicate' })
    }
    add.run(tenant, code, quantity)
    db.exec('COMMIT')
  } catch (error) {
    db.exec('ROLLBACK')
    throw error
  }
  res.status(201).json({ data: event })
})

const server = app.listen(Number(port), '127.0.0.1')
process.on('SIGTERM', () => {
  server.close(() => db.close())
  server.closeAllConnections()
})
