import { i18n } from '@lingui/core'
import { I18nProvider } from '@lingui/react'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { newQueryClient } from './api/queries'
import { offeredCurrenciesQuery } from './app/currencies'
import { preferredLanguage, showIn } from './app/locale'
import { newRouter } from './app/router'
import { settingsQuery } from './app/session'
import { ActingEnded } from './shell/ActingEnded'
import { Expired } from './shell/Expired'
import { Offline } from './shell/Offline'
import { Practice } from './shell/Practice'
import { Sandbox } from './shell/Sandbox'
import { loadLater } from './ui/later'
import { Toasts } from './ui/Toast'
import './styles/index.css'

const queries = newQueryClient()
const router = newRouter(queries)

const settings = queries.fetchQuery(settingsQuery)
void queries.prefetchQuery(offeredCurrenciesQuery)
const language = preferredLanguage()
await showIn(language)
// If the reader's language is not offered, the pages are in English.
void settings.then(({ locales }) => { if (!locales.includes(language)) void showIn('en') }, () => {})

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <I18nProvider i18n={i18n}>
      <QueryClientProvider client={queries}>
        <Practice />
        <RouterProvider router={router} />
        <Sandbox />
        <Expired />
        <ActingEnded />
        <Toasts><Offline /></Toasts>
      </QueryClientProvider>
    </I18nProvider>
  </StrictMode>,
)
loadLater(() => queries.isFetching() > 0)
