import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api } from '../../../api/client'
import { useHere, useRefresh } from '../shared/reads'

/** The channel on which the page after a test reports {result: 'ok' or the error}. */
const channelName = 'tenantry-sso-test'

/** Tests the connection in a new tab, which reports its result. */
export function useTest() {
  const here = useHere()
  const refresh = useRefresh()
  const [result, setResult] = useState<string>()
  useEffect(() => {
    const channel = new BroadcastChannel(channelName)
    channel.onmessage = ({ data }: MessageEvent<{ result?: unknown }>) => {
      if (typeof data?.result !== 'string') return
      setResult(data.result)
      void refresh('/sso')
    }
    return () => channel.close()
  }, [refresh])
  const test = useMutation({
    mutationFn: async (tab: Window | null) => {
      try {
        const { url } = (await api.POST('/api/v1/tenant/{tenantId}/sso/test', here)).data!.data
        if (tab) tab.location.href = url
        else location.assign(url)
      } catch (error) {
        tab?.close()
        throw error
      }
    },
    onMutate: () => setResult(undefined),
  })
  // Browsers block a tab that opens after the request.
  return { result, start: () => test.mutate(window.open('', '_blank')), busy: test.isPending, error: test.error }
}
