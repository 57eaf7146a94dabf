"use strict";

// Fetches the page again every two seconds and puts its changing parts in place of the old ones. The server makes all
// HTML; nothing is built from data here.
(() => {
  const every = 2000;
  const notice = document.getElementById("lost");
  let last = Date.now();
  let timer = 0;

  // busy reports whether the reader has selected text in a part, or is at a control of it: it is left alone then.
  function busy(part) {
    const selection = getSelection();
    return part.contains(document.activeElement) ||
      (selection && !selection.isCollapsed && part.contains(selection.anchorNode));
  }

  function replace(page) {
    for (const part of document.querySelectorAll("[data-live]")) {
      const fresh = page.getElementById(part.id);
      if (fresh && !busy(part) && fresh.innerHTML !== part.innerHTML) {
        part.replaceChildren(...document.adoptNode(fresh).childNodes);
      }
    }
  }

  async function refresh() {
    clearTimeout(timer);
    if (!document.hidden) {
      const address = location.href;
      try {
        const reply = await fetch(address, {headers: {Accept: "text/html"}, cache: "no-store", signal: AbortSignal.timeout(8000)});
        if (!reply.ok) {
          throw new Error(reply.statusText);
        }
        const page = new DOMParser().parseFromString(await reply.text(), "text/html");
        if (address === location.href) {
          replace(page);
        }
        last = Date.now();
        notice.hidden = true;
      } catch {
        notice.hidden = false;
        notice.textContent = "No answer; what you see is " + Math.round((Date.now() - last) / 1000) + " s old.";
      }
    }
    timer = setTimeout(refresh, every);
  }

  // Searching begins while one types.
  const search = document.getElementById("search");
  if (search) {
    search.addEventListener("input", () => {
      const address = new URL(location.href);
      address.searchParams.set("q", search.value);
      address.searchParams.delete("page");
      history.replaceState(null, "", address);
      clearTimeout(timer);
      timer = setTimeout(refresh, 150);
    });
  }

  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) {
      refresh();
    }
  });
  timer = setTimeout(refresh, every);
})();
