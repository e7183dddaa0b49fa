# The sample agents, and the processes of apps/two-servers. `docker build --tag baton-samples .`
FROM node:24.19.0-slim@sha256:cd84903a12dbd26b46f1f3b8144a2568c41c5d37ddd0c7a80a34c7a19786b35f AS build
WORKDIR /app
COPY . .
RUN npx -y pnpm@12.21.0 start --build
# Without the tools that built the page, and without a Node.js beside the one of the image.
RUN rm -rf node_modules packages/*/node_modules apps/*/node_modules \
  && npx -y pnpm@12.21.0 install --prod --no-optional --trust-lockfile \
  --filter-prod '@batonjs/gallery...' --filter-prod '@batonjs/two-servers...'

FROM node:24.19.0-slim@sha256:cd84903a12dbd26b46f1f3b8144a2568c41c5d37ddd0c7a80a34c7a19786b35f
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 BATON_DATA=/data
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/packages ./packages
COPY --from=build /app/apps ./apps
RUN mkdir /data && chown node /data
USER node
VOLUME /data
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then((r) => process.exit(r.ok ? 0 : 1))"]
# Node.js gets SIGTERM itself: running turns finish.
CMD ["node", "--conditions=@batonjs/source", "apps/gallery/src/main.ts"]
