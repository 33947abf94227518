import type { NextConfig } from 'next'

const config: NextConfig = { turbopack: { root: process.cwd() } }

export default config
