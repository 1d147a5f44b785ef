// Scripts for shells are kept as scripts, and put into the program as texts.
declare module "*.bash" {
  const text: string
  export default text
}
declare module "*.zsh" {
  const text: string
  export default text
}
declare module "*.fish" {
  const text: string
  export default text
}
