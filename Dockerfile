# The image of cc-executor, for linux/amd64 and linux/arm64: see docs/containers.md.
#
#   docker build -t cc-executor .                        nothing but the executable
#   docker build -t cc-executor-agent --target agent .   with a shell, git and ripgrep; and with
#     --build-arg CLAUDE_CODE_VERSION=2.1.326            Claude Code, too

ARG BUN_IMAGE=oven/bun:1.4.4
ARG RUNTIME_IMAGE=gcr.io/distroless/base-debian12:nonroot
ARG AGENT_IMAGE=debian:bookworm-slim

# Runs where the build runs, whatever it is for: Bun compiles for either processor on both.
FROM --platform=${BUILDPLATFORM:-linux} ${BUN_IMAGE} AS build
WORKDIR /src
COPY package.json bun.lock bunfig.toml ./
RUN bun install --frozen-lockfile --production --ignore-scripts
COPY tsconfig.json tsconfig.browser.json ./
COPY scripts scripts
COPY src src
# There is no git here to ask which commit this is, and when that was made.
ARG COMMIT=unknown
ARG SOURCE_DATE_EPOCH
ARG TARGETARCH
RUN CC_EXECUTOR_BUILD_COMMIT="$COMMIT" bun scripts/build-image.ts "$TARGETARCH"
# A new volume gets owner and mode of what it is mounted over.
RUN mkdir -m 700 /state && mkdir -m 755 /workspace

# Claude Code, if a version is named. It may not be redistributed: whoever builds the image fetches
# it from the package registry, and no image that we publish has it.
FROM --platform=${BUILDPLATFORM:-linux} ${BUN_IMAGE} AS claude-code
WORKDIR /install
ARG CLAUDE_CODE_VERSION=
ARG TARGETARCH
RUN mkdir /programs && if [ -n "$CLAUDE_CODE_VERSION" ]; then \
    case "${TARGETARCH:-$(uname -m)}" in arm64 | aarch64) cpu=arm64 ;; *) cpu=x64 ;; esac \
    && echo '{}' > package.json \
    && bun add --exact --ignore-scripts --os linux --cpu "$cpu" \
      "@anthropic-ai/claude-code@$CLAUDE_CODE_VERSION" \
    && mv "node_modules/@anthropic-ai/claude-code-linux-$cpu/claude" /programs/claude \
    && chmod 755 /programs/claude; \
  fi

FROM ${AGENT_IMAGE} AS agent
RUN apt-get update \
  && apt-get install -y --no-install-recommends bash ca-certificates git procps ripgrep \
  && rm -rf /var/lib/apt/lists/* \
  && groupadd --gid 65532 nonroot \
  && useradd --uid 65532 --gid 65532 --create-home --shell /bin/bash nonroot
COPY --from=claude-code /programs /usr/local/bin
COPY --from=build /src/dist/cc-executor /usr/local/bin/cc-executor
COPY --from=build --chown=65532:65532 /state /var/lib/cc-executor
COPY --from=build --chown=65532:65532 /workspace /workspace
USER 65532:65532
WORKDIR /workspace
ENV CC_EXECUTOR_HOST=0.0.0.0 CC_EXECUTOR_STATE_DIR=/var/lib/cc-executor CC_EXECUTOR_MAKE_TOKEN=true
# Claude Code cannot replace itself here: the image's next build does.
ENV DISABLE_AUTOUPDATER=1
VOLUME /var/lib/cc-executor
EXPOSE 8003
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s --retries=3 \
  CMD ["/usr/local/bin/cc-executor", "healthcheck"]
ENTRYPOINT ["/usr/local/bin/cc-executor"]
CMD ["serve"]
ARG COMMIT=unknown
LABEL org.opencontainers.image.title="cc-executor" \
  org.opencontainers.image.description="Runs long-lived commands, coding agents above all, and lets clients control them live." \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.revision="$COMMIT"

FROM ${RUNTIME_IMAGE} AS runtime
COPY --from=build /src/dist/cc-executor /usr/local/bin/cc-executor
COPY --from=build --chown=65532:65532 /state /var/lib/cc-executor
USER 65532:65532
ENV CC_EXECUTOR_HOST=0.0.0.0 CC_EXECUTOR_STATE_DIR=/var/lib/cc-executor CC_EXECUTOR_MAKE_TOKEN=true
VOLUME /var/lib/cc-executor
EXPOSE 8003
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s --retries=3 \
  CMD ["/usr/local/bin/cc-executor", "healthcheck"]
ENTRYPOINT ["/usr/local/bin/cc-executor"]
CMD ["serve"]
ARG COMMIT=unknown
LABEL org.opencontainers.image.title="cc-executor" \
  org.opencontainers.image.description="Runs long-lived commands and lets clients watch and control them live." \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.revision="$COMMIT"
