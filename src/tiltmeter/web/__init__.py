"""The dashboard: the audits of a folder in a browser, with what the report shows and what a report cannot.

It reads what audits have written, asks models only when somebody does, and serves nothing from outside its folder.
"""
