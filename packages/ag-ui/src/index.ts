export { type AgUiHandlerOptions, agUiHandler } from './ag-ui-handler.ts';
export { AG_UI, type FrontEnd, type FrontEndTool, frontEndOf } from './messages.ts';
