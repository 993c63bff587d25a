// Runs before first paint, so that a chosen theme never flashes. Without a choice the stylesheet follows the system.
;(() => {
  const chosen = /(?:^|; )theme=(light|dark)(?:;|$)/.exec(document.cookie)
  if (chosen) document.documentElement.dataset.theme = chosen[1]
})()
