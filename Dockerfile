# The HTTP server as a container: docs/deploy.md shows how to run it.
FROM node:22-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
# No package needs a script of its own for the build.
RUN npm ci --ignore-scripts
COPY . .
RUN node build.js

FROM node:22-bookworm-slim
# Git is for syncing with remotes, also over SSH.
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates git openssh-client \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=build /build/package.json ./
COPY --from=build /build/rules ./rules
COPY --from=build /build/words/software.words ./words/software.words
COPY --from=build /build/dist ./dist
# The project is mounted here.
WORKDIR /project
USER node
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["node", "-e", "fetch('http://127.0.0.1:3000/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/dist/main.cjs"]
CMD ["serve", "--host", "0.0.0.0"]
