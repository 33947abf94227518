package domain

import "strings"

// mailProviders are registrable domains whose addresses anyone can get. No tenant can add them.
var mailProviders = newSet(`
126.com 163.com aim.com alice.it aliceadsl.fr aol.com aol.co.uk aol.de aol.fr arcor.de att.net bellsouth.net
bigpond.com blueyonder.co.uk bluewin.ch bol.com.br btinternet.com club-internet.fr comcast.net cox.net daum.net
earthlink.net email.com email.it fastmail.com fastmail.fm foxmail.com free.fr freenet.de gmail.com gmx.at gmx.ch
gmx.com gmx.de gmx.fr gmx.net googlemail.com hanmail.net hey.com hotmail.be hotmail.co.uk hotmail.com hotmail.com.br
hotmail.de hotmail.es hotmail.fr hotmail.it hotmail.nl hushmail.com icloud.com inbox.lv inbox.ru interia.pl juno.com
laposte.net libero.it list.ru live.be live.ca live.co.uk live.com live.com.au live.com.mx live.de live.dk live.fr
live.it live.nl lycos.com mac.com mail.com mail.de mail.ee mail.ru mailbox.org mailinator.com me.com msn.com
naver.com neuf.fr nifty.com numericable.fr o2.pl ocn.ne.jp online.de onet.pl op.pl optonline.net orange.fr
outlook.be outlook.com outlook.co.id outlook.co.th outlook.com.ar outlook.com.au outlook.com.br outlook.com.gr
outlook.com.tr outlook.com.vn outlook.cz outlook.de outlook.dk outlook.es outlook.fr outlook.hu outlook.ie
outlook.in outlook.it outlook.jp outlook.kr outlook.lv outlook.my outlook.ph outlook.pt outlook.sa outlook.sg
outlook.sk passport.com pm.me posteo.de posteo.net proton.me protonmail.ch protonmail.com qq.com rambler.ru
rediffmail.com rocketmail.com rogers.com runbox.com sapo.pt sbcglobal.net seznam.cz sfr.fr shaw.ca sina.com
sky.com sohu.com startmail.com sympatico.ca t-online.de talktalk.net telenet.be telefonica.net terra.com.br
terra.es tin.it tiscali.co.uk tiscali.it tuta.com tuta.io tutanota.com tutanota.de uol.com.br verizon.net
virgilio.it virginmedia.com voila.fr wanadoo.es wanadoo.fr web.de windowslive.com wp.pl xs4all.nl yahoo.ca
yahoo.co.id yahoo.co.in yahoo.co.jp yahoo.co.kr yahoo.co.nz yahoo.co.th yahoo.co.uk yahoo.com yahoo.com.ar
yahoo.com.au yahoo.com.br yahoo.com.hk yahoo.com.mx yahoo.com.ph yahoo.com.sg yahoo.com.tr yahoo.com.tw
yahoo.com.vn yahoo.de yahoo.dk yahoo.es yahoo.fr yahoo.gr yahoo.ie yahoo.in yahoo.it yahoo.no yahoo.pl yahoo.ro
yahoo.se yandex.by yandex.com yandex.kz yandex.ru yandex.ua yeah.net ymail.com ya.ru ziggo.nl zoho.com zohomail.com
`)

func newSet(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

func isMailProvider(registrable string) bool { return mailProviders[registrable] }
