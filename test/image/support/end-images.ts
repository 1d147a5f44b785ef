import { afterAll } from "bun:test"
import { endImages } from "./images.ts"

// Loaded before all test files, so this comes after the last of them.
afterAll(endImages, 60_000)
