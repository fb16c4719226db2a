# perpd in a container: dependencies in one stage, nothing but what runs in the other.
FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts

FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json LICENSE README.md ./
COPY src ./src
COPY config ./config
COPY strategies ./strategies
# State lives in a volume that belongs to the user who runs perpd.
RUN mkdir -p /app/var && chown node:node /app/var
VOLUME ["/app/var"]
USER node
EXPOSE 9464
# The first SIGTERM drains; give it the time that execution.drainSeconds says, and a little more.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9464/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "src/cli/main.ts", "run"]
