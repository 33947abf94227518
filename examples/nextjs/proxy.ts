import { NextResponse, type NextRequest } from 'next/server'
import { baseUrl } from './lib/tenantry'

/** Passes the API on: browsers reach it on the product's own origin, so the login's cookie is the product's too. */
export function proxy({ nextUrl: { pathname, search } }: NextRequest) {
  return NextResponse.rewrite(new URL(pathname + search, baseUrl))
}

export const config = { matcher: ['/api/v1/:path*', '/csrf-cookie'] }
