import type { ReviewRequest } from "../../documents/review/request.ts"
import type { ReadWork } from "../files/read-work.ts"
import { WorkFailure } from "../work-failure.ts"

export function requestOf({ path, work }: Pick<ReadWork, "path" | "work">): ReviewRequest {
  if (work.kind === "review") return work
  throw new WorkFailure(
    `${path} is no request for a review: it has no \`review:\` in its front matter. ` +
      "`cc-executor review request COMPONENT FILE…` writes one, and `cc-executor adopt` makes " +
      "one of a request that was written for something else.",
  )
}
