import { useEffect, useRef } from "preact/hooks"
import Chart from "uplot"

export type PlotLine = { label: string; values: readonly (number | null)[]; isRight?: boolean }
type PlotProps = { times: readonly number[]; lines: readonly PlotLine[]; height?: number }

const dashes = [[], [4, 3], [1, 3]]
/** The same in the legend. */
const borders = ["solid", "dashed", "dotted"]

/** Lines over time. Greys and dashes tell them apart: colour is for states. */
export function Plot({ times, lines, height = 160 }: PlotProps) {
  const box = useRef<HTMLDivElement>(null)
  const chart = useRef<Chart | null>(null)
  const data: Chart.AlignedData = [[...times], ...lines.map(({ values }) => [...values])]
  useEffect(() => {
    const { current } = box
    if (current === null) return
    const styles = getComputedStyle(current)
    const ink = styles.getPropertyValue("color")
    const axis = { stroke: ink, grid: { show: false }, ticks: { show: false } }
    const made = new Chart(
      {
        width: current.clientWidth,
        height,
        // The first series is that of the times.
        legend: { markers: { width: 2, dash: (_, series) => borders[series - 1] ?? "solid" } },
        cursor: { drag: { x: false, y: false } },
        scales: { right: {} },
        axes: [axis, { ...axis, size: 60 }],
        series: [
          {},
          ...lines.map(({ label, isRight }, index) => ({
            label,
            stroke: ink,
            width: 1.5,
            dash: dashes[index % dashes.length] ?? [],
            scale: isRight === true ? "right" : "y",
            points: { show: false },
          })),
        ],
      },
      data,
      current,
    )
    chart.current = made
    const observer = new ResizeObserver(() => made.setSize({ width: current.clientWidth, height }))
    observer.observe(current)
    return () => {
      observer.disconnect()
      made.destroy()
    }
  }, [lines.length])
  useEffect(() => chart.current?.setData(data), [times.length, times.at(-1)])
  const latest = lines.map(({ label, values }) => `${label}: ${values.at(-1) ?? "unknown"}`)
  return <div class="plot" ref={box} role="img" aria-label={`Over time. ${latest.join(", ")}`} />
}
