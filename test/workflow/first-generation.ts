/** Works in the forms of the first generation. */

export const oldTaskList = `# 🗒️ 000_tasks_list

> Status boxes track real progress; do **not** tick a box before its verification has passed.

\`\`\`bash
docker build -t example:latest .
- [x] **T99 – not a task**
\`\`\`

## 📌 Roadmap

- [x] **T00 – Read & Understand**  
  *Complete the pre-flight check.*  
  _Owner:_ Implementer

- [x] **T01 – Robust Logging**  
  Goal: Replace \`print\` with structured \`logging\`.  
  _Implementation Details:_
  - Use a central configuration
  - Log to stdout/stderr
  Verification: \`pytest tests/test_healthz.py\` should pass & logs must appear as JSON.

- [x] **T02 – Back-Pressure**  
  Goal: Prevent buffer bloat.  
  Verification: Stress test piping \`yes | pv -qL 50000\` for 60 s.

- [x] **T03 – Stress Tests**  
  Goal: open ≥3 sessions.  
  Verification: zero orphans (\`pgrep -f "yes | pv"\` returns none).

- [ ] **T04 – CI Integration**  
  Verification: CI badge stays green after merge.

- [x] **T05 – Security Pass**  
  Verification: Attempting a disallowed command returns \`SECURITY_DENIED\`.

- [ ] **T06 – Documentation**  
  Verification: \`markdownlint\` passes; reviewer approval.

- [ ] **T07 – Graduation Metrics**  
  Verification: Metrics table in \`cc_executor_mcp.md\` reflects new counts.

---

### Progress Legend
- ☐ = Not started  
- ◔ = In progress  
- ✅ = Verified & merged
`

export const oldPromptFormA = `# Robust Logging — Self-Improving Prompt

## 📊 TASK METRICS & HISTORY
- **Success/Failure Ratio**: 7:2 (Requires 10:1 to graduate)
- **Last Updated**: 2025-06-25
- **Evolution History**:
  | Version | Change & Reason | Result |
  | :------ | :-------------- | :----- |
  | v1      | Initial         | TBD    |

---
## 🏛️ ARCHITECT'S BRIEFING (Immutable)
### 1. Purpose
Log as JSON.

---
## 🤖 IMPLEMENTER'S WORKSPACE
### **Implementation Code Block**
*Edit only this.*
\`\`\`python
print("hello")
\`\`\`

### **Task Execution Plan & Log**
#### **Step 1: Run it**
*   **Goal:** it runs
*   **Action:** run it
*   **Verification Command:** \`python a.py\`
*   **Expected Output:** hello

**--- EXECUTION LOG (Step 1) ---**
\`\`\`text
\`\`\`

## 🎓 GRADUATION & VERIFICATION
## 🔬 DIAGNOSTICS & RECOVERY
`

export const oldPromptFormB = `# WebSocket — Self-Improving Prompt

## 🎮 GAMIFICATION METRICS
- **Success**: 9
- **Failure**: 4
- **Total Executions**: 13
- **Last Updated**: 2025-06-30
- **Success Ratio**: 9:4 (need 10:1 to graduate)

## Evolution History
- v1: Initial
- v2: Locks

## 🧪 RECOVERY TESTS
### Test 1: Broken pipe
Kill it.
### Test 2: Full disk
Fill it.

## 🎯 GRADUATION CRITERIA
`
