import { createContext, useContext } from 'react'

/** The dialog that an action of a tenant's page opens. */
export type Asked =
  | { dialog: 'edit' | 'cancel' | 'void' | 'dissolve' | 'trial' | 'credit' | 'paid' | 'charge' | 'code' | 'uncode' | 'resume' | 'price' }
  | { dialog: 'change' }
  | { dialog: 'limit' | 'grant' | 'cap'; feature?: string }
  | { dialog: 'act'; member?: number }
  | undefined

export const AskContext = createContext<(asked: Asked) => void>(() => {})

/** Returns a function that opens a dialog of the tenant's page. */
export const useAsk = () => useContext(AskContext)
