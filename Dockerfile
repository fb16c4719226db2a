# perpd in a container: dependencies in one stage, the code as it is built in the next, nothing but what runs in the last. deploy/compose.yaml runs it with a
# read-only file system and no rights.
# The digest of that image's index, which has all platforms: it holds the build to it whatever the tag names later (docs/releasing.md, "The container").
ARG NODE_DIGEST="sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20"
FROM node:24.21.0-bookworm-slim${NODE_DIGEST:+@}${NODE_DIGEST} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The compiler comes along as an optional peer of a package; it has no part in running.
RUN npm ci --omit=dev --ignore-scripts && rm -rf node_modules/typescript node_modules/@typescript && npm cache clean --force

# What builds the code has no part in running either: this stage gives its result alone.
FROM node:24.21.0-bookworm-slim${NODE_DIGEST:+@}${NODE_DIGEST} AS code
WORKDIR /app
COPY package.json package-lock.json .npmrc tsconfig.json tsconfig.build.json ./
RUN npm ci --ignore-scripts && npm cache clean --force
COPY scripts ./scripts
COPY src ./src
RUN npm run -s build

FROM node:24.21.0-bookworm-slim${NODE_DIGEST:+@}${NODE_DIGEST}
ENV NODE_ENV=production MALLOC_ARENA_MAX=2 XDG_CACHE_HOME=/app/cache
WORKDIR /app
# The packages' own manager is not needed to run, and can load code: it goes.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /opt/yarn*
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json LICENSE README.md ./
COPY deploy/sbom.cdx.json ./
COPY --from=code /app/dist ./dist
# Defaults that nobody in the container can change; compose.yaml mounts your own over the last two, read-only.
COPY config ./config
COPY strategies ./strategies
RUN mkdir /etc/perpd && printf '{}\n' > /etc/perpd/perpd.json
# State lives in a volume that belongs to the user who runs perpd (`node` of the image), and to nobody else.
RUN mkdir -m 0700 -p /app/var && chown 1000:1000 /app/var
VOLUME ["/app/var"]
# Compiled once for all starts, for the user and the options of each command below, and then nobody's to change: whoever may write here decides what runs.
RUN install -d -o 1000 -g 1000 cache cache/perpd cache/perpd/compiled && for options in "" "--max-semi-space-size=8 --heap-growing-percent=25"; do NODE_COMPILE_CACHE=/app/cache/perpd/compiled setpriv --reuid=1000 --regid=1000 --clear-groups node $options -e "for (const each of fs.readdirSync('dist/code')) import('/app/dist/code/' + each)" || exit 1; done && chown -R 0:0 cache && chmod -R a+rX cache
# By its number, so that Kubernetes can tell that it is not root.
USER 1000:1000
# Status, health and metrics (control.port). It listens inside the container alone until control.host is set; the paper venue
# takes a free port of 127.0.0.1 and needs none.
EXPOSE 9464
# The first SIGTERM drains; give it the time that execution.drainSeconds says, and a little more.
STOPSIGNAL SIGTERM
# It asks where the daemon of these settings wrote that it serves, whatever control.host and control.port are.
HEALTHCHECK --interval=15s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "dist/cli/bin.js", "status", "--alive", "--config", "/etc/perpd/perpd.json"]
# A configuration that cannot be used ends with 0, so that `restart: on-failure` does not try it again and again.
CMD ["node", "--disable-sigusr1", "--max-semi-space-size=8", "--heap-growing-percent=25", "dist/cli/bin.js", "run", "--configuration-exit", "0", "--config", "/etc/perpd/perpd.json"]
