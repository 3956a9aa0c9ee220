// The service worker: keeps the page, so that it opens without a network once it was visited.
const OURS = `nardy-rl ${self.registration.scope} `; // other folders of the site have other names
const KEPT = `${OURS}{{VERSION}}`;
const FILES = {{FILES}};

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches.open(KEPT).then((cache) => cache.addAll(FILES)).then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => {
  event.waitUntil(caches.keys().then(async (names) => {
    const older = names.filter((name) => name.startsWith(OURS) && name !== KEPT);
    await Promise.all(older.map((name) => caches.delete(name)));
    await self.clients.claim();
  }));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || !request.url.startsWith(self.registration.scope)) return;
  // A new export is seen where there is a network; the kept one is for where there is none.
  event.respondWith(
    fetch(request).then(async (answer) => {
      if (answer.ok) {
        const cache = await caches.open(KEPT);
        await cache.put(request, answer.clone());
      }
      return answer;
    }).catch(async () => {
      const cache = await caches.open(KEPT);
      const kept = await cache.match(request, { ignoreSearch: true })
        || (request.mode === "navigate" && await cache.match("index.html"));
      return kept || Response.error();
    }),
  );
});
