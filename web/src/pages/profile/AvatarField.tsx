import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation } from '@tanstack/react-query'
import { useRef } from 'react'
import { api, ApiError } from '../../api/client'
import { useMe } from '../../app/session'
import { Button } from '../../ui/Button'
import { Icon } from '../../ui/Icon'
import { Avatar } from '../../ui/People'
import { toast } from '../../ui/Toast'
import { useReadAgain } from './useProfile'

/** The file types and the size that the service accepts. */
const kinds = 'image/png,image/jpeg,image/webp,image/gif'
const largest = 2 * 1024 * 1024

/** The user's avatar, to choose or delete it. */
export function AvatarField() {
  const { t } = useLingui()
  const { user } = useMe()
  const readAgain = useReadAgain()
  const input = useRef<HTMLInputElement>(null)
  const upload = useMutation({
    mutationFn: async (file: File) => {
      if (file.size > largest) {
        const message = t`The picture is larger than 2 MB. Choose a smaller one.`
        throw new ApiError(413, message, undefined, { avatar: [message] })
      }
      const body = new FormData()
      body.append('avatar', file)
      // The API description declares the file as a string; the request is a form with the file.
      await api.POST('/api/v1/user/avatar', { body: { avatar: '' }, bodySerializer: () => body })
      await readAgain()
    },
    onSuccess: () => toast(t`Your picture was changed`),
  })
  const remove = useMutation({
    mutationFn: async () => {
      await api.DELETE('/api/v1/user/avatar')
      await readAgain()
    },
    onSuccess: () => toast(t`Your picture was removed`),
  })
  const error = upload.error ?? remove.error
  const message = error instanceof ApiError ? (Object.values(error.fields)[0]?.[0] ?? error.message) : error && t`Something went wrong. Try again.`
  return (
    <div className="field avatar-field">
      <div className="row">
        <Avatar name={user.name} src={user.avatar} large />
        <input
          ref={input} type="file" accept={kinds} className="sr" tabIndex={-1} aria-label={t`Picture`}
          onChange={(event) => {
            const file = event.target.files?.[0]
            if (file) upload.mutate(file)
            event.target.value = ''
          }}
        />
        <Button size="s" busy={upload.isPending} onClick={() => input.current?.click()}>{user.avatar ? <Trans>Change picture</Trans> : <Trans>Add picture</Trans>}</Button>
        {user.avatar && <Button size="s" look="quiet" busy={remove.isPending} onClick={() => remove.mutate()}><Trans>Remove picture</Trans></Button>}
      </div>
      {message ? <p className="error" role="alert"><Icon name="alert" />{message}</p> : <p className="help"><Trans>PNG, JPEG, WebP or GIF, up to 2 MB. The picture is cropped to a square.</Trans></p>}
    </div>
  )
}
