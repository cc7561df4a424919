/** The panels: occupancy, control flow, and the outcome of a run. */

import * as vscode from 'vscode';

import { Panel, type Told } from './panel.js';
import {
  CONTROL_FLOW,
  OCCUPANCY_CURVE,
  PREVIEW,
  type Asked,
  type ControlFlow,
  type OccupancyCurve,
  type Preview,
} from './protocol.js';
import type { Server } from './server.js';
import { reveal, toRange } from './text.js';

/** A kernel of a document: by its name, or the one at a place. */
export interface Subject {
  uri: vscode.Uri;
  kernel?: string;
  position?: vscode.Position;
}

/** A panel about one kernel, computed anew when its document changes. */
abstract class KernelPanel<Answer extends { kernel: string }> extends Panel {
  protected subject: Subject | undefined;
  protected what: Record<string, number | string> = {};
  private request = 0;

  constructor(
    extension: vscode.Uri,
    page: string,
    title: string,
    private readonly server: Server,
    private readonly method: string,
  ) {
    super(extension, page, title);
  }

  /** Shows the panel for a kernel; says so where there is none. */
  async open(subject: Subject): Promise<void> {
    this.subject = subject;
    this.what = {};
    await this.update(true);
  }

  async update(focus = false): Promise<void> {
    const subject = this.subject;
    if (!subject || !(focus || this.isOpen)) {
      return;
    }
    const number = ++this.request;
    const asked: Asked = { textDocument: { uri: subject.uri.toString() }, ...this.what };
    if (subject.kernel !== undefined) {
      asked.kernel = subject.kernel;
    } else if (subject.position) {
      asked.position = { line: subject.position.line, character: subject.position.character };
    }
    const answer = await this.server.request<Answer>(this.method, asked);
    if (number !== this.request) {
      return; // a later question has been asked
    }
    if (answer) {
      this.subject = { uri: subject.uri, kernel: answer.kernel };
      this.show(answer.kernel, answer, focus);
    } else if (focus) {
      void vscode.window.showInformationMessage('There is no kernel here to show.');
    }
  }

  protected override told(message: Told): void {
    const uri = this.subject?.uri;
    if (!uri) {
      return;
    }
    switch (message.kind) {
      case 'reveal':
        void reveal(uri, toRange(message.range));
        break;
      case 'revealLine':
        void reveal(uri, new vscode.Range(message.line, 0, message.line, 0));
        break;
      case 'ask':
        this.what = message.what;
        void this.update();
        break;
      case 'ready':
        break;
    }
  }
}

export class OccupancyPanel extends KernelPanel<OccupancyCurve> {
  constructor(extension: vscode.Uri, server: Server) {
    super(extension, 'occupancy', 'Occupancy', server, OCCUPANCY_CURVE);
  }
}

export class ControlFlowPanel extends KernelPanel<ControlFlow> {
  constructor(extension: vscode.Uri, server: Server) {
    super(extension, 'controlflow', 'Control flow', server, CONTROL_FLOW);
  }
}

export class PreviewPanel extends KernelPanel<Preview> {
  constructor(extension: vscode.Uri, server: Server) {
    super(extension, 'preview', 'Run', server, PREVIEW);
  }
}
