'use server'
import { isTenantryError, recordUsage } from '@tenantry/client'
import { revalidatePath } from 'next/cache'
import { redirect } from 'next/navigation'
import { product, whoIsIt } from '../lib/tenantry'

/** Makes text loud for whoever is logged in, as far as their plan allows. */
export async function shout(_: unknown, form: FormData): Promise<{ loud?: string; refused?: string }> {
  const me = await whoIsIt()
  if (!me?.currentTenant) redirect('/')
  const text = String(form.get('text')).slice(0, 1000)
  try {
    await recordUsage(product, me.currentTenant.id, { meter_code: 'api-calls', quantity: text.length, idempotency_key: String(form.get('key')) })
  } catch (error) {
    if (isTenantryError(error, 'QUOTA_EXCEEDED')) return { refused: 'Your plan has no letters left for this.' }
    throw error
  }
  revalidatePath('/')
  return { loud: text.toUpperCase() }
}
